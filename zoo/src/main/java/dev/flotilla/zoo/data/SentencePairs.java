package dev.flotilla.zoo.data;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Sequences of sentences, divided into pairs when they are asked for. */
final class SentencePairs implements TextSource {

  private final List<List<int[]>> chunks;
  private final int cls;
  private final int sep;
  private final boolean nextSentence;

  private SentencePairs(List<List<int[]>> chunks, int cls, int sep, boolean nextSentence) {
    this.chunks = chunks;
    this.cls = cls;
    this.sep = sep;
    this.nextSentence = nextSentence;
  }

  /** Joins the sentences of a text into sequences. */
  static SentencePairs of(TextFile text, Vocabulary vocabulary, PlainText settings) {
    int room = settings.maxSeqLen() - specials(settings.nextSentence());
    return new SentencePairs(
        chunks(text.documents(), room, settings.pack()),
        vocabulary.require("[CLS]"),
        vocabulary.require("[SEP]"),
        settings.nextSentence());
  }

  private static int specials(boolean nextSentence) {
    return nextSentence ? 3 : 2;
  }

  private static List<List<int[]>> chunks(List<List<int[]>> documents, int room, boolean pack) {
    List<List<int[]>> chunks = new ArrayList<>();
    List<int[]> chunk = new ArrayList<>();
    for (var document : documents) {
      for (int[] sentence : document) {
        for (int[] piece : pieces(sentence, room)) {
          if (tokens(chunk) + piece.length > room) {
            chunks.add(chunk);
            chunk = new ArrayList<>();
          }
          chunk.add(piece);
        }
      }
      if (!pack && !chunk.isEmpty()) {
        chunks.add(chunk);
        chunk = new ArrayList<>();
      }
    }
    if (!chunk.isEmpty()) {
      chunks.add(chunk);
    }
    return chunks;
  }

  private static List<int[]> pieces(int[] sentence, int room) {
    List<int[]> pieces = new ArrayList<>();
    for (int from = 0; from < sentence.length; from += room) {
      pieces.add(Arrays.copyOfRange(sentence, from, Math.min(from + room, sentence.length)));
    }
    return pieces;
  }

  private static int tokens(List<int[]> sentences) {
    return sentences.stream().mapToInt(sentence -> sentence.length).sum();
  }

  /** Returns the sequences of a range; random second sentences come from it alone. */
  SentencePairs part(int from, int to) {
    return new SentencePairs(List.copyOf(chunks.subList(from, to)), cls, sep, nextSentence);
  }

  @Override
  public int size() {
    return chunks.size();
  }

  @Override
  public int length(int sample) {
    return tokens(chunks.get(sample)) + specials(nextSentence);
  }

  @Override
  public TextSequence sequence(int sample, SampleRandom random) {
    int[] whole = joined(chunks.get(sample));
    if (!nextSentence || whole.length < 2) {
      return sequence(whole, new int[0], TextSequence.NO_LABEL);
    }
    int cut = cut(chunks.get(sample), whole.length, random);
    int[] first = Arrays.copyOf(whole, cut);
    if (random.coin() || chunks.size() == 1) {
      return sequence(first, Arrays.copyOfRange(whole, cut, whole.length), 0);
    }
    int[] other = other(sample, random);
    int kept = Math.min(other.length, whole.length - cut);
    return sequence(first, Arrays.copyOf(other, kept), 1);
  }

  /** Draws the place between two sentences, or within the only one. */
  private static int cut(List<int[]> sentences, int length, SampleRandom random) {
    if (sentences.size() == 1) {
      return 1 + random.below(length - 1);
    }
    return tokens(sentences.subList(0, 1 + random.below(sentences.size() - 1)));
  }

  /** Returns the second half of another sequence. */
  private int[] other(int sample, SampleRandom random) {
    int drawn = random.below(chunks.size() - 1);
    var sentences = chunks.get(drawn < sample ? drawn : drawn + 1);
    return joined(sentences.subList(sentences.size() / 2, sentences.size()));
  }

  private static int[] joined(List<int[]> sentences) {
    var all = new int[tokens(sentences)];
    int at = 0;
    for (int[] sentence : sentences) {
      System.arraycopy(sentence, 0, all, at, sentence.length);
      at += sentence.length;
    }
    return all;
  }

  private TextSequence sequence(int[] first, int[] second, int label) {
    boolean isPair = second.length > 0;
    int length = first.length + second.length + (isPair ? 3 : 2);
    var tokens = new int[length];
    var types = new int[length];
    tokens[0] = cls;
    System.arraycopy(first, 0, tokens, 1, first.length);
    tokens[first.length + 1] = sep;
    if (isPair) {
      System.arraycopy(second, 0, tokens, first.length + 2, second.length);
      tokens[length - 1] = sep;
      Arrays.fill(types, first.length + 2, length, 1);
    }
    return new TextSequence(tokens, types, TextSequence.positions(length), label);
  }
}
