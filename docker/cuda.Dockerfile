# Flotilla for NVIDIA GPUs, from the distribution. Make it first: mvn -Pdist,cuda package -pl app -am
# Then: docker build -f docker/cuda.Dockerfile --build-arg VERSION=0.1.0-SNAPSHOT -t flotilla-cuda app/target
# and:  docker run --rm --gpus all --shm-size 1g -v "$PWD:/work" flotilla-cuda train --set device=cuda --out runs/digits
# CUDA 13, cuDNN 9 and NCCL 2 are those of the image below, the driver is the host's.
FROM nvidia/cuda:13.1.0-cudnn-runtime-ubuntu24.04
ARG VERSION
ARG PLATFORM=linux-x86_64-gpu
ADD flotilla-${VERSION}-${PLATFORM}.tar.gz /opt/
RUN ln -s "/opt/flotilla-${VERSION}-${PLATFORM}/flotilla" /usr/local/bin/flotilla \
    && useradd --create-home flotilla \
    && install -d -o flotilla /work
USER flotilla
WORKDIR /work
ENTRYPOINT ["flotilla"]
CMD ["--help"]
